/** Summaries of workflows and activities, as Temporal takes them; workflows and the command line, which share nothing else, write them. */

/** The most bytes of a summary; Temporal rejects what begins a longer one. */
const LONGEST_SUMMARY = 200;

/** Names of syncs, mappings and schemas, which are ASCII, make up nearly all of a summary. */
export const shortSummary = (text: string): string =>
  text.length <= LONGEST_SUMMARY ? text : `${text.slice(0, LONGEST_SUMMARY - 3)}...`;
