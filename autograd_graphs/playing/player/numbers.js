// The name of an error and its first sentence, without what it adds in brackets.
function inShort(error) {
  const [, kind = "Error", message] = error.match(/^(?:([\w.]+): )?([^]*)$/);
  return [kind, message.match(/^.*?(?=[.!?](\s|$|[A-Z][a-z]+ )|\n|$)/)[0].replace(/\([^)]{20,}\)/, "(…)")];
}

const short = (number) => String(+number.toFixed(3));
const list = (numbers) => (numbers ? `[${numbers.map(short).join(", ")}]` : "None");

function inBytes(count) {
  if (count < 1000) return `${count} bytes`;
  const at = Math.min(4, Math.floor(Math.log10(count) / 3));
  return `${(count / 1000 ** at).toFixed(1)} ${["", "kB", "MB", "GB", "TB"][at]}`;
}

// A number agrees within one per cent, a shape or a list as it is written, however it is spaced.
function agrees(guess, truth) {
  const plain = (text) => String(text).trim().replace("−", "-").replace(/\s+/g, "").replace(/[x*,](?=\d)/g, "×").replace(/^[([]|[)\]]$/g, "");
  const [one, other] = [plain(guess), plain(truth)];
  const near = one !== "" && Number.isFinite(+one) && Number.isFinite(+other) && Math.abs(one - other) <= Math.abs(other) * 0.01;
  return one === other || near;
}
