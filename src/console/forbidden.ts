/** A request that the console turns away. */
export class Forbidden extends Error {
  readonly statusCode = 403;
}
