/** All pages of the console that only show something. */
import type { Page } from './page.js';
import { auditPage } from './pages/audit.js';
import { deadLettersPage } from './pages/dead-letters.js';
import { overviewPage } from './pages/overview.js';
import { reconcilePage } from './pages/reconcile.js';
import { recordPage } from './pages/record.js';
import { removalPlanPage, removalsPage } from './pages/removals.js';
import { runPage } from './pages/run.js';
import { schedulesPage } from './pages/schedules.js';
import { syncPage } from './pages/sync.js';
import { tenantPage, tenantsPage } from './pages/tenants.js';

export const PAGES: readonly Page[] = [
  overviewPage,
  syncPage,
  runPage,
  deadLettersPage,
  recordPage,
  removalsPage,
  removalPlanPage,
  schedulesPage,
  tenantsPage,
  tenantPage,
  reconcilePage,
  auditPage,
];
