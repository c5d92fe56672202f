/** Whether tests can use a program that npm does not install: `npm test` says what it could neither find nor obtain. */
export function isHere(name: string): boolean {
  // Only the tests of versions get it: scripts/versions/subjects.mjs.
  if (name === 'MySQL') return process.env['TEST_MYSQL'] !== undefined;
  return !(process.env['TESTS_WITHOUT'] ?? '').split(',').includes(name);
}
