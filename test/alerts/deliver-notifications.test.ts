/** What a target is told: the problems of all entries of sync.yaml that name it. */
import { expect, it } from 'vitest';
import { deliverNotifications } from '../../src/alerts/deliver-notifications.js';

type Parameters_ = Parameters<typeof deliverNotifications>;

it('delivers the problems of each entry that names the address', async () => {
  const address = { kind: 'slack', url: 'https://hooks.example.com/x' };
  const target = (label: string, on: readonly string[]) => ({ id: 'same', label, on, address });
  const due = new Map([
    ['failing', { sync: 'shop', target: 'same', problem: 'failing', since: new Date(0), endedAt: null }],
    ['late', { sync: 'shop', target: 'same', problem: 'late', since: new Date(0), endedAt: null }],
  ]);
  const alerts = {
    due: (_sync: string, subscriptions: readonly { problem: string }[]) =>
      Promise.resolve(subscriptions.flatMap(({ problem }) => due.get(problem) ?? [])),
    unfinished: () => Promise.resolve([]),
    recordDelivery: ({ problem }: { problem: string }) => Promise.resolve(void due.delete(problem)),
  };
  const sent: string[] = [];
  const alerting = {
    of: () => Promise.resolve({ targets: [target('alerts[0]', ['failing']), target('alerts[1]', ['late'])] }),
    send: (_target: unknown, { problem }: { problem: string }) => {
      sent.push(problem);
      return Promise.resolve({ delivered: true });
    },
  };

  const delivered = await deliverNotifications(
    alerts as unknown as Parameters_[0],
    alerting as unknown as Parameters_[1],
    {
      sync: 'shop',
      target: 'same',
    },
  );

  expect(delivered).toEqual({ delivered: 2 });
  expect(sent.toSorted()).toEqual(['failing', 'late']);
});
