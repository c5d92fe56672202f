/** Stands for partner-sync's command line in the test of the stack: a sandbox that is healthy, a worker that polls. */
import { createServer } from 'node:http';
import { Connection } from '@temporalio/client';

const [command, ...args] = process.argv.slice(2);
console.log(`${command} started`);
process.on('SIGTERM', () => {
  console.log(`${command} drained`);
  process.exit(0);
});
if (command === 'sandbox') {
  createServer((_, answer) => answer.end('{}')).listen(Number(args[args.indexOf('--port') + 1]), '127.0.0.1');
} else {
  const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, PARTNER_SYNC_TASK_QUEUE } = process.env;
  const connection = await Connection.connect({ address: TEMPORAL_ADDRESS });
  while (true) {
    await connection.withDeadline(Date.now() + 60_000, () =>
      connection.workflowService.pollWorkflowTaskQueue({
        namespace: TEMPORAL_NAMESPACE,
        taskQueue: { name: PARTNER_SYNC_TASK_QUEUE },
        identity: `fake ${process.pid}`,
      }),
    );
  }
}
