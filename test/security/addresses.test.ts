/** Which addresses of the platform are refused: those that would send token and rows unencrypted, or hide where they go. */
import { describe, expect, it } from 'vitest';
import { platformAddressProblem } from '../../src/domain/sync/platform-address.js';
import { PlatformClient } from '../../src/platform/client.js';

const ENCRYPTED = 'must be https (http only for this machine)';
const CREDENTIALS = 'must not contain credentials';
const TAIL = 'must end with its host or path, without "?" and "#"';

const REFUSED: readonly (readonly [address: string, problem: string])[] = [
  ['', 'is not a URL'],
  ['platform.example.com', 'is not a URL'],
  ['//platform.example.com', 'is not a URL'],
  ['https://', 'is not a URL'],
  ['https://plat form.example.com', 'is not a URL'],
  ['https://[::1', 'is not a URL'],
  ['https://platform.example.com:99999', 'is not a URL'],
  ['http://platform.example.com', ENCRYPTED],
  ['HTTP://PLATFORM.EXAMPLE.COM', ENCRYPTED],
  ['ftp://platform.example.com', ENCRYPTED],
  ['ws://127.0.0.1', ENCRYPTED],
  ['file:///etc/passwd', ENCRYPTED],
  ['data:text/plain,x', ENCRYPTED],
  ['javascript:alert(1)', ENCRYPTED],
  ['gopher://127.0.0.1:6379/_x', ENCRYPTED],
  ['blob:https://platform.example.com/x', ENCRYPTED],
  // Other machines, and names that only look like this one.
  ['http://0.0.0.0', ENCRYPTED],
  ['http://10.0.0.1', ENCRYPTED],
  ['http://169.254.169.254/latest/meta-data', ENCRYPTED],
  ['http://192.168.1.1', ENCRYPTED],
  ['http://[fe80::1]', ENCRYPTED],
  ['http://[::ffff:169.254.169.254]', ENCRYPTED],
  ['http://2852039166', ENCRYPTED],
  ['http://127.0.0.1.example.com', ENCRYPTED],
  ['http://localhost.example.com', ENCRYPTED],
  ['http://localhost.', ENCRYPTED],
  ['http://notlocalhost', ENCRYPTED],
  ['http://127.0.0.1@platform.example.com', CREDENTIALS],
  ['https://token@platform.example.com', CREDENTIALS],
  ['https://:secret@platform.example.com', CREDENTIALS],
  ['https://platform.example.com\\@127.0.0.1?x', TAIL],
  ['https://platform.example.com?token=secret', TAIL],
  ['https://platform.example.com/#x', TAIL],
];

describe('the address of the platform', () => {
  it.each(REFUSED)('is refused: %s', (address, problem) => {
    expect(platformAddressProblem(address)).toBe(problem);
    // Nothing of it is quoted: it may hold a token.
    expect(() => new PlatformClient({ baseUrl: address, token: 't' })).toThrow(
      expect.objectContaining({ code: 'config_invalid', message: `PLATFORM_BASE_URL ${problem}` }),
    );
  });

  it.each([
    'https://platform.example.com',
    'https://platform.example.com:8443/prefix/',
    'https://10.0.0.1',
    'http://localhost:8080',
    'http://127.0.0.1:8080/prefix',
    'http://127.8.9.10',
    'http://[::1]:8080',
    // How URLs write 127.0.0.1 too.
    'http://2130706433',
    'http://0x7f.1',
  ])('may be %s', (address) => {
    expect(platformAddressProblem(address)).toBeUndefined();
  });
});
