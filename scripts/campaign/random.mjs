/** Random numbers of a campaign: the same for the same seed (mulberry32), one stream for each concern. */

/**
 * @param {string} name the seed and what the numbers are for: concerns do not disturb each other
 * @returns {(below: number) => number} whole numbers from 0 to below `below`
 */
export function randomOf(name) {
  let state = 0;
  for (const character of name) state = Math.imul(state ^ character.codePointAt(0), 0x9e3779b1) >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** Something of a list. */
export const oneOf = (random, list) => list[random(list.length)];

/** Deals the list again and again, each time in another order: nothing comes less often than anything else. */
export function* dealt(random, list) {
  while (true) {
    const left = [...list];
    while (left.length > 0) yield left.splice(random(left.length), 1)[0];
  }
}
