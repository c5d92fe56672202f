/** A proof is a test of one sentence of the document, whatever the settings of the sandbox. */
import type { SENTENCES } from './sentences.js';
import type { Setting } from './setting.js';

export type Subject = keyof typeof SENTENCES;

/** A proof for every sentence of a subject; one that has none does not compile. */
export type Proofs<S extends Subject> = { readonly [sentence in (typeof SENTENCES)[S][number]]: Proof };

export type Proof = (setting: Setting) => Promise<void>;
