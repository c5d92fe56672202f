/** A request that the console turns away: 400 for what cannot be meant, 403 for what is not allowed. */
export class TurnedAway extends Error {
  readonly statusCode: 400 | 403;

  constructor(statusCode: 400 | 403, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}
