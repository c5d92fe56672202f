/** Whatever a platform writes into its messages, reading them takes time in proportion to their length. */
import { describe, expect, it } from 'vitest';
import { messageAbout, namedFailures } from '../../src/delivery/upload/named-failures.js';
import { maskedMessage } from '../../src/delivery/upload/platform-message.js';
import { withoutPasswords } from '../../src/domain/values/without-passwords.js';
import { recordOf } from '../../src/records/record-list.js';

const record = recordOf('north', '17850', ['17850'], JSON.stringify({ name: 'Zoë' }));

// In quadratic time a single one of these takes minutes, and no test may take so long.
const MILLION = 1_000_000;
const LONG = {
  'escaped quotes without an end': `"${'\\"'.repeat(MILLION / 2)}`,
  'quotes without an end, one after another': `x ${'" '.repeat(MILLION / 2 + 1)}`,
  'apostrophes without an end': `' ${"a'".repeat(MILLION / 2)}`,
  'backticks without an end': '`'.repeat(MILLION + 1),
  'dots before a letter': `${'.'.repeat(MILLION)}x`,
  'exclamation marks before a letter': `${'!?'.repeat(MILLION / 2)}x`,
  'letters and dots without an @': 'a.'.repeat(MILLION / 2),
  'equals signs without an @': '='.repeat(MILLION),
  'an @ after another': '@'.repeat(MILLION),
  'digits and hyphens': '1-'.repeat(MILLION / 2),
  'a digit and blanks': `1${' '.repeat(MILLION)}x`,
  'plus signs': '+'.repeat(MILLION),
  backslashes: '\\'.repeat(MILLION),
  'a quote and backslashes': `"${'\\'.repeat(MILLION + 1)}`,
  'letters without a scheme': `${'a'.repeat(MILLION)}=`,
  'schemes without a password': `${'a://'.repeat(MILLION / 4)}=`,
  'a scheme and colons': `a://${':'.repeat(MILLION)}`,
  'passwords without a value': 'password='.repeat(MILLION / 9),
};

describe.each(Object.entries(LONG))('%s', (_, text) => {
  it('are searched for the names of records', () => {
    const failures = namedFailures([text], new Set(['17850']));
    expect(failures.nameless).toEqual([text]);
    expect(messageAbout('17850', failures).length).toBeLessThan(5_000);
  });

  it('are masked', () => {
    expect(maskedMessage(text, record, [])).not.toContain('Zoë');
  });

  it('are searched for passwords', () => {
    expect(withoutPasswords(text)).not.toContain('hunter2');
  });
});
