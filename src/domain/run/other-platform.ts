/** What is wrong if a sync is to deliver to another platform than the one that its ledger knows of, in a sentence for people. */
export const otherPlatform = (sync: string, known: string, now: string): string =>
  `${sync} delivers to ${known}, as the ledger knows, and PLATFORM_BASE_URL is ${now} here`;
