/** An example of continuous integration: it needs no database, no platform and no secret. */

/** A workflow of GitHub Actions; its two last commands are all that another CI needs. */
export const ciExample = (): string => `name: mappings
on: [push, pull_request]
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 22, cache: npm }
      - run: npm ci
      - run: npm run check
      - run: npm test
`;
