/** The envelopes around every answer (platform-api.md section 1). */
import { Type } from 'typebox';

export const Success = Type.Object({
  success: Type.Literal(true),
  message: Type.Optional(Type.String()),
  data: Type.Unknown(),
});

/** `{ message, success: false, errors? }` */
export const Failure = Type.Object({
  message: Type.String(),
  success: Type.Optional(Type.Boolean()),
  errors: Type.Optional(Type.Array(Type.String())),
});

/** The other shape that resource and batch-upload operations may answer with. */
export const AlternativeFailure = Type.Object({
  success: Type.Optional(Type.Boolean()),
  message: Type.Optional(Type.String()),
  data: Type.Object({ error: Type.String() }),
});

/** Header by which a platform-scoped token acts for one tenant (platform-api.md section 5). */
export const TENANT_HEADER = 'service-tenant-id';
