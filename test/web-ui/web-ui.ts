/** Temporal's Web UI, used like a person would: by what is written on it. */
import type { FrameLocator, Locator, Page } from 'playwright-core';
import { takePicture } from '../browser.js';

/** The tabs of a workflow's page. */
type Tab = 'History' | 'User Metadata';

export class WebUi {
  readonly page: Page;
  readonly #url: string;

  /** `url`: the address of the server's Web UI. */
  constructor(page: Page, url: string) {
    this.page = page;
    this.#url = `${url}/namespaces/default`;
  }

  /** Opens the list of the workflows that match the filter. */
  async list(filter: string): Promise<void> {
    await this.page.goto(`${this.#url}/workflows?query=${encodeURIComponent(filter)}`);
  }

  async workflow(id: string, tab: Tab): Promise<void> {
    await this.page.goto(`${this.#url}/workflows/${encodeURIComponent(id)}`);
    await this.page.getByRole('tab', { name: tab }).click();
  }

  async schedule(id: string): Promise<void> {
    await this.page.goto(`${this.#url}/schedules/${encodeURIComponent(id)}`);
  }

  /** Summary, details and current details are pages within the page, in this order. */
  get metadata(): { readonly summary: FrameLocator; readonly details: FrameLocator; readonly current: FrameLocator } {
    const frames = this.page.frameLocator('iframe');
    return { summary: frames.nth(0), details: frames.nth(1), current: frames.nth(2) };
  }

  /** Fills in the form "Send an Update" of the workflow that is open, and returns it; without input, it is left empty. */
  async update(name: string, input?: object): Promise<Locator> {
    await this.page.getByRole('button', { name: 'More Actions' }).click();
    await this.page.getByRole('menuitem', { name: 'Send an Update' }).click();
    const form = this.page.getByRole('dialog', { name: 'Send an Update' });
    await form.getByRole('button', { name: 'Select an Update' }).click();
    await form.getByRole('option', { name: new RegExp(`^${name}`) }).click();
    if (input !== undefined) await this.write(form.getByRole('textbox').last(), input);
    return form;
  }

  /** Sends an Update that is accepted: the form closes. */
  async send(name: string, input?: object): Promise<void> {
    const form = await this.update(name, input);
    await form.getByRole('button', { name: 'Submit' }).click();
    await form.waitFor({ state: 'hidden' });
  }

  /** Sends an Update that is refused, and returns what the form says then. */
  async refusalOf(name: string, input?: object): Promise<string> {
    const form = await this.update(name, input);
    await form.getByRole('button', { name: 'Submit' }).click();
    await form.getByRole('alert').first().waitFor();
    const said = await form.innerText();
    await form.getByRole('button', { name: 'Cancel' }).last().click();
    return said;
  }

  /** Has this address decode and encode what the page shows and sends, from now on. */
  async useCodecServer(url: string): Promise<void> {
    await this.page.goto(`${this.#url}/workflows`);
    await this.page.getByRole('button', { name: 'Configure Codec Server' }).click();
    await this.page.getByRole('textbox', { name: 'Codec Server browser endpoint' }).fill(url);
    await this.page.getByRole('button', { name: 'Apply' }).click();
  }

  /** Starts a workflow by the form "Start Workflow"; default: on the task queue of the documentation. */
  async start(workflow: { id: string; type: string; input: object; taskQueue?: string }): Promise<void> {
    const { id, type, input, taskQueue = 'partner-sync' } = workflow;
    await this.page.goto(`${this.#url}/workflows/start-workflow`);
    await this.page.getByRole('textbox', { name: 'Workflow ID' }).fill(id);
    await this.page.getByRole('textbox', { name: 'Task Queue' }).fill(taskQueue);
    await this.page.getByRole('textbox', { name: 'Workflow Type' }).fill(type);
    await this.write(this.page.getByRole('textbox').last(), input);
    await this.page.getByRole('button', { name: 'Start Workflow' }).click();
    await this.page.getByText('Workflow started successfully').waitFor();
  }

  /** Writes JSON into one of the Web UI's editors, as the editor would lay it out. */
  async write(editor: Locator, input: object): Promise<void> {
    await editor.click();
    await this.page.keyboard.press('ControlOrMeta+A');
    await this.page.keyboard.insertText(JSON.stringify(input, null, 2));
  }

  /** Changes the columns of the workflow list. */
  async setColumns({ remove, add }: { remove: readonly string[]; add: readonly string[] }): Promise<void> {
    // The button with the cogwheel has no name.
    await this.page.getByRole('navigation', { name: 'Workflows' }).getByRole('button').nth(1).click();
    for (const column of remove) await this.page.getByRole('button', { name: `Remove ${column} column` }).click();
    for (const column of add) await this.page.getByRole('button', { name: `Add ${column} column` }).click();
    await this.page.getByRole('button', { name: 'Close Workflows Table configuration' }).click();
  }

  /** With RECORD_SCREENSHOTS=1, takes the picture `docs/images/<name>.png` of the upper part of the window. */
  async picture(name: string, height: number): Promise<void> {
    const clip = { x: 64, y: 48, width: this.page.viewportSize()!.width - 64, height };
    await takePicture(this.page, name, { clip });
  }
}
