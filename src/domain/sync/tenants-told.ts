/** The platform's ids of all tenants that a rule can tell, each once. */
import type { TenantRule } from './sync.js';

export const tenantsTold = (rule: TenantRule): readonly string[] =>
  rule.kind === 'constant' ? [rule.tenant] : [...new Set(rule.values.values())];
