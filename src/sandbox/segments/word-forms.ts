/** Forms of English words: enough for names of fields and records, with no list of exceptions to keep. */

/** `orders` -> `order`, `categories` -> `category`, `boxes` -> `box`; `status` and `address` stay. */
export function singular(word: string): string {
  if (word.length < 4 || /(ss|us|is)$/.test(word)) return word;
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (/(x|z|ch|sh|ss)es$/.test(word)) return word.slice(0, -2);
  return word.endsWith('s') ? word.slice(0, -1) : word;
}

/** `order` -> `orders`, `category` -> `categories`, `person` -> `people`. */
export function plural(word: string): string {
  if (/(^|\W)person$/i.test(word)) return word.replace(/person$/i, 'people');
  if (/(^|\W)people$/i.test(word)) return word;
  if (/[^aeiou]y$/i.test(word)) return `${word.slice(0, -1)}ies`;
  if (/(s|x|z|ch|sh)$/i.test(word)) return singular(word.toLowerCase()) === word.toLowerCase() ? `${word}es` : word;
  return `${word}s`;
}

/** What verb and noun have in common: `booked`, `bookings`, `book` -> `book`. */
export function stem(word: string): string {
  const one = singular(word);
  const short = one.replace(/(ing|ed|e)$/, '');
  return short.length < 3 ? one : short.replace(/([bdglmnprt])\1$/, '$1').replace(/y$/, 'i');
}

/** The words of a name, in the singular: `marketingOptIn`, `marketing_opt_in` and `Marketing opt-in` are the same. */
export function wordsOfName(name: string): string[] {
  return name
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map(singular);
}

export const article = (words: string): string => `${/^[aeiou]/i.test(words) ? 'an' : 'a'} ${words}`;
