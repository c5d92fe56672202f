/** A notification in Slack's form, which Mattermost and others take too: they show `text`. */
import type { Notification, NotificationState } from '../domain/monitoring/alerts.js';
import { details, headline } from './notification.js';

/** The most characters that Slack takes: of a header, and of the text of a section. */
const LONGEST_HEADER = 150;
const LONGEST_SECTION = 3000;

const SIGNS: Readonly<Record<NotificationState, string>> = {
  problem: ':red_circle:',
  reminder: ':red_circle:',
  recovered: ':large_green_circle:',
  test: ':information_source:',
};

export interface SlackMessage {
  /** For notifications, and for servers that know no blocks. */
  readonly text: string;
  readonly blocks: readonly object[];
}

export function slackMessage(notification: Notification): SlackMessage {
  const [first = '', ...others] = details(notification);
  const title = `${SIGNS[notification.state]} ${headline(notification)}`;
  return {
    text: cut(`${escaped(title)}\n${escaped(first)}`, LONGEST_SECTION),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cut(title, LONGEST_HEADER), emoji: true } },
      section([first]),
      ...(others.length === 0 ? [] : [section(others)]),
    ],
  };
}

const section = (lines: readonly string[]): object => ({
  type: 'section',
  text: { type: 'mrkdwn', text: cut(lines.map(escaped).join('\n'), LONGEST_SECTION) },
});

/** Slack reads these three characters as control characters, and no others. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Cut to `longest` characters, never inside an escaped character. */
const cut = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest - 3).replace(/&[a-z]*$/, '')}...`;
