/** Who has logged in, in a signed cookie: the console keeps no list of sessions. Ending the console ends them all. */
import { randomBytes } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { seconds } from '../../domain/timeouts.js';

const COOKIE = 'partner-sync-console';

export interface Sessions {
  /** The header that logs `user` in. */
  begin(user: string): Promise<string>;
  /** The header that logs out. */
  readonly end: string;
  /** The user whose cookie it is; null if there is none that holds. */
  userOf(cookies: string | undefined): Promise<string | null>;
}

/** `secure`: the console is reached by https, so the cookie must not travel otherwise. */
export function openSessions({ secure }: { readonly secure: boolean }): Sessions {
  const secret = randomBytes(32);
  const lifetime = seconds('consoleLogin');
  // Lax: whoever follows a link from the provider or from a message is logged in; a form of another site is turned away.
  const attributes = `; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  return {
    async begin(user) {
      const token = new SignJWT().setProtectedHeader({ alg: 'HS256' }).setSubject(user);
      const signed = await token.setIssuedAt().setExpirationTime(`${lifetime}s`).sign(secret);
      return `${COOKIE}=${signed}; Max-Age=${lifetime}${attributes}`;
    },
    end: `${COOKIE}=; Max-Age=0${attributes}`,
    async userOf(cookies = '') {
      const cookie = cookies.split(/; */).find((each) => each.startsWith(`${COOKIE}=`));
      if (cookie === undefined) return null;
      try {
        const { payload } = await jwtVerify(cookie.slice(COOKIE.length + 1), secret, { algorithms: ['HS256'] });
        return payload.sub ?? null;
      } catch {
        return null; // expired, or of a console that has ended
      }
    },
  };
}
