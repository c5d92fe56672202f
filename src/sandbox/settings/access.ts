/** Settings of who may call, and how callers say who they are. */
import { Type } from 'typebox';
import { Group } from './group.js';

export const ACCESS = {
  authHeader: Type.String({
    pattern: '^[A-Za-z0-9-]+$',
    default: 'authorization',
    description: 'Header that carries the token (section 5.4).',
  }),
  authScheme: Type.String({
    pattern: '^[A-Za-z0-9-]*$',
    default: 'Bearer',
    description: 'Word before the token in that header; empty: the token alone (section 5.4).',
  }),
  callers: Group(
    "Which callers an operation takes (section 5.5). `/partner/...` always needs the platform account's token, or a tenant could see another.",
    {
      open: Type.Array(Type.Enum(['none', 'platform']), {
        default: ['none', 'platform'],
        minItems: 1,
        description: 'Of the operation without a security requirement (4.1, see section 5.3): `none` needs no token.',
      }),
      tenant: Type.Array(Type.Enum(['platform', 'tenant']), {
        default: ['platform', 'tenant'],
        minItems: 1,
        description: "Of `/api/...`: the platform account's token with a tenant's id beside it, a tenant's own token.",
      }),
    },
  ),
  defaultTenant: Type.String({
    pattern: '^[A-Za-z0-9_-]{0,64}$',
    default: '',
    description: 'Tenant that a platform token acts for on `/api/...` without `service-tenant-id`; empty: none (5.1).',
  }),
  allowedHosts: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description:
      'Host names under which the server may be called besides loopback and its own (a service in a container network).',
  }),
};
