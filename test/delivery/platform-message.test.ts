/** The platform's message about a record is stored without the record's values, and remains understandable. */
import { expect, it } from 'vitest';
import { maskedMessage } from '../../src/delivery/upload/platform-message.js';
import { recordOf } from '../../src/records/record-list.js';

const data = {
  customerId: '17850',
  name: 'Zoë de la Cruz',
  email: 'jo@example',
  age: 42,
  note: 'must not be called before nine',
  address: { street: 'Elm Street', lines: ['Flat B'] },
};
const record = recordOf('north', '17850', ['17850'], JSON.stringify(data));
const masked = (message: string): string => maskedMessage(message, record, ['customer']);

it.each([
  ['/email must match format "email"', '/email must match format "email"'],
  ['externalId "17850": /email must match format "email"', '/email must match format "email"'],
  ['/name must NOT have more than 10 characters', '/name must NOT have more than 10 characters'],
  ['missing dependency customer "17850"', 'missing dependency customer <text(5) 99999>'],
  ['jo@example is not valid', '<text(10) aa@aaaaaaa> is not valid'],
  ['contact Zoë de la CRUZ refused', 'contact <text(3) aaa> <text(2) aa> <text(2) aa> <text(4) aaaa> refused'],
  ['42 is too young', '<text(2) 99> is too young'],
  ['no delivery to Elm, Flat B', 'no delivery to <text(3) aaa>, <text(4) aaaa> <text(1) a>'],
  ['number +44 20 7946 0018 is taken', 'number <text(16) +99 99 9999 9999> is taken'],
  ['"Mr Jones of Elm', '<text(15) aa aaaaa aa aaa>'],
  ["name 'Mr Jones", 'name <text(8) aa aaaaa>'],
  ['say \\"Mr Jones\\" instead', 'say \\<text(18) aa aaaaa** aaaaaaa>'],
  ['"ends in a backslash\\', '<text(20) aaaa aa a aaaaaaaaa*>'],
  ['12 34.bob@x.org is taken', '12 <text(12) 99.aaa@a.aaa> is taken'],
  ["'other@person.org' has it already", '<text(16) aaaaa@aaaaaa.aaa> has it already'],
])('%s', (message, expected) => {
  expect(masked(message)).toBe(expected);
});
