/** A button that leads to the page on which an action is confirmed; nothing where the console is read-only. */
import type { ActionName } from '../actions/actions.js';
import { links } from '../links.js';
import type { ConsoleSettings } from '../console-settings.js';

export interface ActionLinkProps {
  readonly action: ActionName;
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly label: string;
  readonly settings: Pick<ConsoleSettings, 'allowActions'>;
}

export const ActionLink = ({ action, values, label, settings }: ActionLinkProps) =>
  settings.allowActions ? (
    <a class="button" href={links.action(action, values)}>
      {label}
    </a>
  ) : null;
