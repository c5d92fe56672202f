/**
 * Downloads the Temporal CLI into the given folder through the Temporal SDK, which knows the address and the archive
 * for each platform.
 */
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [folder] = process.argv.slice(2);
// The SDK downloads the CLI only to start a server, so one is started and stopped at once.
const environment = await TestWorkflowEnvironment.createLocal({
  server: { executable: { type: 'cached-download', downloadDir: folder, version: 'v1.5.1' } },
});
await environment.teardown();
