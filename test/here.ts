/** Whether tests can use a program that npm does not install: `npm test` says what it could neither find nor obtain. */
export function isHere(name: string): boolean {
  return !(process.env['TESTS_WITHOUT'] ?? '').split(',').includes(name);
}
