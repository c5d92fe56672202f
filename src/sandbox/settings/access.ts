/** Settings for authentication: which callers are accepted and how they identify themselves. */
import { Type } from 'typebox';
import { Group } from './group.js';

/** Where the token stands and which callers an operation accepts: sections 5.4 and 5.5 leave both open. */
export const ACCESS = {
  authHeader: Type.String({
    pattern: '^[A-Za-z0-9-]+$',
    default: 'authorization',
    description: 'Header that carries the token (section 5.4).',
  }),
  authScheme: Type.String({
    pattern: '^[A-Za-z0-9-]*$',
    default: 'Bearer',
    description: 'Word before the token in that header; if empty, the token stands alone (section 5.4).',
  }),
  callers: Group(
    'Which callers an operation accepts (section 5.5). `/partner/...` always needs a platform token, or tenants could see each other.',
    {
      open: Type.Array(Type.Enum(['none', 'platform']), {
        default: ['none', 'platform'],
        minItems: 1,
        description:
          'Callers of the operation without a security requirement (4.1, see section 5.3); with `none` no token is needed.',
      }),
      tenant: Type.Array(Type.Enum(['platform', 'tenant']), {
        default: ['platform', 'tenant'],
        minItems: 1,
        description:
          'Callers of `/api/...`: a token of the platform account together with a tenant id, or a token of a tenant.',
      }),
    },
  ),
  defaultTenant: Type.String({
    pattern: '^[A-Za-z0-9_-]{0,64}$',
    default: '',
    description:
      'Tenant that a platform token acts for on `/api/...` without `service-tenant-id`; if empty, there is none (5.1).',
  }),
  allowedHosts: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description:
      'Host names under which the server may be called besides loopback and its own (a service in a container network).',
  }),
};
