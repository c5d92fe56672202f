/** Quotes what somebody has entered, in a message about it. */
import { foreignText } from './foreign-text.js';

/** Characters that are quoted: enough to recognise what is meant. */
const LONGEST = 60;

/** The text in quotes, without control characters; of a long one only the beginning, since messages are kept in histories. */
export const quoted = (text: string): string => `"${foreignText(text, LONGEST)}${text.length > LONGEST ? '…' : ''}"`;
