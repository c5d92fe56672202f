/** How much a randomized test tries: few moments with a fixed seed in an ordinary run, many with new seeds in `npm run test:campaign`. */

const CAMPAIGN = process.env['TEST_CAMPAIGN'] === 'true';

/** The one on each commit, the other in a campaign. */
export const inCampaign = <T>(usual: T, campaign: T): T => (CAMPAIGN ? campaign : usual);

/**
 * Seeds, one for each round; the test prints them in its title. `TEST_SEED` repeats a round, `TEST_ROUNDS` says how many
 * rounds a campaign has.
 */
export function seeds(): number[] {
  const given = process.env['TEST_SEED'];
  if (given !== undefined) return [Number(given)];
  if (!CAMPAIGN) return [1];
  const first = Date.now() % 1_000_000;
  return Array.from({ length: Number(process.env['TEST_ROUNDS'] ?? 5) }, (_, round) => first + round);
}
