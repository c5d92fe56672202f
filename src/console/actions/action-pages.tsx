/** Asks whether to carry out an action, and shows what its command prints. */
import type { Action, ActionField, ActionValues } from './actions.js';
import type { Job } from './jobs.js';
import { commandLine } from '../../domain/values/command-line.js';
import { links } from '../links.js';
import type { PageContent } from '../page.js';
import { CommandLine } from '../parts/command-line.js';
import { Moment, State } from '../parts/values.js';

/** The question, with a form that posts to the address of the page. */
export function actionPage(name: string, action: Action, values: ActionValues): PageContent {
  const { sync } = values;
  const fields = Object.entries(action.fields);
  return {
    title: action.title(values),
    crumbs: [],
    sync: sync!,
    body: (
      <form method="post" action={`/actions/${name}`}>
        <p>{action.question}</p>
        {fields
          .filter(([field, { fixed }]) => fixed && values[field] !== undefined)
          .map(([field]) => (
            <input key={field} type="hidden" name={field} value={values[field]} />
          ))}
        {fields
          .filter(([, { fixed }]) => fixed !== true)
          .map(([field, about]) => (
            <Field key={field} name={field} about={about} value={values[field] ?? ''} />
          ))}
        <CommandLine args={action.args(values)} />
        <div class="actions">
          <button type="submit" class="primary">
            {action.title(values)}
          </button>
          <a class="button" href={links.sync(sync!)}>
            Do nothing
          </a>
        </div>
      </form>
    ),
  };
}

function Field({ name, about, value }: { readonly name: string; readonly about: ActionField; readonly value: string }) {
  const { label, choices, required } = about;
  const id = `field-${name}`;
  return (
    <>
      <label for={id}>
        {label}
        {required ? ' (required)' : ''}
      </label>
      {choices === undefined ? (
        <input id={id} name={name} value={value} required={required} maxLength={500} />
      ) : (
        <select id={id} name={name} required={required}>
          <option value=""></option>
          {choices.map((choice) => (
            <option key={choice} selected={choice === value}>
              {choice}
            </option>
          ))}
        </select>
      )}
    </>
  );
}

/** The exit codes of commands as states. */
const STATES: Readonly<Record<number, string>> = { 0: 'done', 3: 'complete_with_dead_letters' };

/** What a command has printed so far. */
export function jobPage(job: Job): PageContent {
  const { exitCode, sync, output, args, startedAt, title } = job;
  const working = exitCode === null;
  return {
    title,
    crumbs: [],
    sync,
    ...(working && { refresh: 1 }),
    body: (
      <div id="job" data-live role="status">
        <p>
          <State name={working ? 'running' : (STATES[exitCode] ?? 'failed')} />{' '}
          {working || exitCode === 0 ? null : `exit code ${exitCode}, `}
          started <Moment at={startedAt} />
        </p>
        <p class="command">
          <code>{commandLine(args)}</code>
        </p>
        <pre tabIndex={0} aria-label="What the command has printed">
          {output === '' ? 'nothing printed yet' : output}
        </pre>
        <p>
          <a href={links.sync(sync)}>Back to {sync}</a>
        </p>
      </div>
    ),
  };
}
