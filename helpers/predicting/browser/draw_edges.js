// Where an edge of a drawing goes: from rim to rim, and round what stands in between; its sign beside it, over nothing else.
// A box is { x, y, wide, tall }: the middle of a card, and half its size with some air. A curve is three points: its start,
// what it bends towards, its end.

// how far an edge bends to pass a card, against its length; and where on it one looks
const BENDS = [0, 0.2, 0.3, 0.45, 0.6, 0.8, 1.2, 1.6].flatMap((bend) => [bend, -bend]);
const PARTS = Array.from({ length: 19 }, (_, at) => (at + 1) / 20);
const LANE = 0.36; // how much more the next of several edges between two cards is bent
const SIGN = 10; // px, half of a sign
const NEAR = 14; // px between two edges, under which they are hard to tell apart
const EDGE = 4; // px that an edge keeps from the rim of the board

const mixed = (from, to, part) => from.map((one, i) => mix(one, to[i], part));
const covers = ({ x, y, wide, tall }, [u, v], more = 0) => Math.abs(u - x) < wide + more && Math.abs(v - y) < tall + more;

function curve(from, to, bend) {
  const [cx, cy] = [mix(from.x, to.x, 0.5) - (to.y - from.y) * bend, mix(from.y, to.y, 0.5) + (to.x - from.x) * bend];
  const rim = ({ x, y, wide, tall }) => mixed([x, y], [cx, cy], Math.min(0.9, wide / Math.abs(cx - x || 1e-9), tall / Math.abs(cy - y || 1e-9)));
  return [rim(from), [cx, cy], rim(to)];
}

const pointOn = ([start, by, end], part) => mixed(mixed(start, by, part), mixed(by, end, part), part);
const pointsOn = (line) => PARTS.map((part) => pointOn(line, part));

// Straight, where no card is in between; else through the fewest cards, and then not far round, beside few edges and cards.
function bestBend(from, to, boxes, laid, { clientWidth, clientHeight }) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const others = boxes.filter((one) => one !== from && one !== to);
  const isOut = ([x, y]) => Math.min(x, y, clientWidth - x, clientHeight - y) < EDGE;
  const isHit = (at) => others.some((one) => covers(one, at));
  const isNear = ([x, y]) => laid.some(([u, v]) => Math.hypot(u - x, v - y) < NEAR);
  const beside = (bend) => others.filter(({ x, y }) => bend * (dx * (y - from.y) - dy * (x - from.x)) > 1).length;
  const costs = BENDS.map((bend) => {
    const points = pointsOn(curve(from, to, bend));
    const [out, hit, near] = [isOut, isHit, isNear].map((is) => points.filter(is).length);
    return 3 * out + hit + (bend && near / 20) + Math.abs(bend) / 3 + beside(bend) / 99;
  });
  return BENDS[costs.indexOf(Math.min(...costs))];
}

// The line, and the three corners of its head.
function route([start, by, [x, y]]) {
  const long = Math.hypot(x - by[0], y - by[1]) || 1;
  const [ux, uy] = [(x - by[0]) / long, (y - by[1]) / long];
  const corner = (side) => `${x - 10 * ux - side * uy},${y - 10 * uy + side * ux}`;
  return { d: `M${start}Q${by} ${x - 7 * ux} ${y - 7 * uy}`, points: `${x},${y} ${corner(5)} ${corner(-5)}` };
}

// On the outer side of the bend, where there is room.
function signPlace(line, taken, { clientWidth }) {
  const [[x1, y1], by, [x2, y2]] = line;
  const outer = (x2 - x1) * (by[1] - y1) - (y2 - y1) * (by[0] - x1) > 1 ? -1 : 1;
  const far = (Math.hypot(x2 - x1, y2 - y1) || 1) / (SIGN + 7);
  const places = [0.5, 0.35, 0.65, 0.25].flatMap((part) => {
    const [x, y] = pointOn(line, part);
    return [outer, -outer].map((way) => [x + ((y2 - y1) / far) * way, y - ((x2 - x1) / far) * way]);
  });
  const isFree = (at) => at[0] > SIGN && at[0] < clientWidth - SIGN && !taken.some((one) => covers(one, at, SIGN));
  return places.find(isFree) ?? places[0];
}
