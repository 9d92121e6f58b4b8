// Drawings of ours wear the type of the page: an image sees none of its page's fonts. Resolves when a picture can be measured.
async function dressed(image) {
  const [, data] = image.src.split("data:image/svg+xml;base64,");
  const drawing = data ? atob(data) : "", ours = 'font-family="ui-sans-serif';
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  const face = rules.find((rule) => rule instanceof CSSFontFaceRule && rule.cssText.includes("Course Sans"));
  if (face && drawing.includes(ours)) {
    const typed = drawing.replace("<style>", `<style>${face.cssText}`).replace(ours, 'font-family="Course Sans,ui-sans-serif');
    image.src = `data:image/svg+xml;base64,${btoa(typed)}`;
  }
  await image.decode().catch(() => null);
}
