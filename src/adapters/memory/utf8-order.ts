/**
 * Order of two strings by the bytes of their UTF-8, which is the order of their code points. JavaScript's own
 * `<` compares UTF-16 units and puts U+1F600 (a surrogate pair) before U+FF5E.
 */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // The first differing unit decides, once surrogates are ranked above the rest of the plane.
    return rank(x) - rank(y);
  }
  return a.length - b.length;
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
