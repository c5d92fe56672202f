/** The envelopes around every response (platform-api.md section 1), and the header that names a tenant. */
import { Type, type TSchema } from 'typebox';
import { TENANT_ID_PATTERN } from '../../domain/values/names.js';
import type { Operation } from './operation.js';

/** `{ success: true, message, data }`, or the fields of a flat response. */
export const successOf = ({ flat, data }: Operation): TSchema =>
  flat ? data : Type.Object({ success: Type.Boolean(), message: Type.Optional(Type.String()), data });

/** `{ message, success: false, errors? }` */
export const Failure = Type.Object({
  message: Type.String(),
  success: Type.Literal(false),
  errors: Type.Optional(Type.Array(Type.String(), { description: 'specific validation errors' })),
});

/** The alternative error shape of resource and batch-upload operations. */
export const AlternativeFailure = Type.Object({
  success: Type.Boolean(),
  message: Type.String(),
  data: Type.Object({ error: Type.String() }),
});

/** Header by which a platform-scoped token acts for one tenant (platform-api.md section 5). */
export const TENANT_HEADER = 'service-tenant-id';

/** The header parameters of an operation. */
export const headersOf = ({ scope, tenantFilter }: Operation) =>
  Type.Object(
    scope !== 'tenant' && tenantFilter === undefined
      ? {}
      : {
          [TENANT_HEADER]: Type.Optional(
            Type.String({
              pattern: TENANT_ID_PATTERN,
              description:
                scope === 'tenant'
                  ? 'tenant to act for; a platform-scoped token must name one'
                  : 'limits the result to this tenant',
            }),
          ),
        },
  );
