/** Downloads the Temporal CLI into the folder given, through the SDK: it knows the address and the platform's archive. */
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [folder] = process.argv.slice(2);
// The SDK downloads only in order to start: the server is up for a moment.
const environment = await TestWorkflowEnvironment.createLocal({
  server: { executable: { type: 'cached-download', downloadDir: folder, version: 'v1.5.1' } },
});
await environment.teardown();
