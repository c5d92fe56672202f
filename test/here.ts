/** Whether tests may use a thing that npm does not bring: `npm test` says what it could neither find nor get. */
export function isHere(name: string): boolean {
  return !(process.env['TESTS_WITHOUT'] ?? '').split(',').includes(name);
}
