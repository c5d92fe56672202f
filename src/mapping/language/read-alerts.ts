/** Reads `alerts` of sync.yaml: whom a sync tells what is wrong with it. */
import { hash } from 'node:crypto';
import type { AlertSettings, AlertTarget, PingTarget } from '../../domain/monitoring/alerts.js';
import { HEALTH_TRIGGERS, type HealthTrigger } from '../../domain/monitoring/sync-health.js';
import { readLimits, type LimitsFile } from './read-limits.js';

/** An entry of `alerts`: it has one of the first four keys. */
interface AlertFile {
  webhook?: string;
  slack?: string;
  email?: string[];
  ping?: string;
  on?: HealthTrigger[];
}

/** The keys of sync.yaml that decide about alerts, each absent or of the form that `sync.schema.json` has checked. */
export interface AlertingFile extends LimitsFile {
  alerts?: AlertFile[];
}

/** Reads what the file has, and takes the default of anything else. `faultySchedules`: it has some that cannot be read. */
export function readAlerts(sync: string, file: AlertingFile, faultySchedules = false): AlertSettings {
  const { alerts = [], failOn = 'incomplete', schedules = [] } = file;
  const entries = alerts.map((entry, index) => ({ ...entry, label: `alerts[${index}]` }));
  return {
    sync,
    targets: entries.flatMap((entry) => readTarget(entry)),
    pings: entries.flatMap(({ ping, label }): PingTarget[] =>
      ping === undefined ? [] : [{ label: `${label} (ping)`, url: ping }],
    ),
    limits: readLimits(file),
    failOn,
    hasSchedules: schedules.length > 0 || faultySchedules,
  };
}

function readTarget({ webhook, slack, email, on, label }: AlertFile & { readonly label: string }): AlertTarget[] {
  const target = (address: AlertTarget['address']): AlertTarget[] => [
    {
      id: hash('sha256', JSON.stringify(address), 'hex').slice(0, 16),
      label: `${label} (${address.kind})`,
      on: on ?? HEALTH_TRIGGERS,
      address,
    },
  ];
  if (webhook !== undefined) return target({ kind: 'webhook', url: webhook });
  if (slack !== undefined) return target({ kind: 'slack', url: slack });
  return email === undefined ? [] : target({ kind: 'email', to: email });
}
