import { askAgent, localSocketPath, NoAgent } from '../client/agent/local-socket.ts';
import type { HostFirewallStatus } from '../client/agent/node-status.ts';
import { formatDuration } from '../core/base/duration.ts';
import { parseInstant } from '../core/base/time.ts';
import type { Answer } from './answer.ts';
import { CliError, EXIT } from './exit.ts';
import { HINTS, renumberText } from './node-hints.ts';
import { runnable } from './own-command.ts';
import { visibleTexts } from './visible.ts';

/** Returns the state of the host's own firewall as lines for people. */
export function hostFirewallLines(host: HostFirewallStatus, directory: string, now = Date.now()): readonly string[] {
  const { blocked, notJudged, translated, opened, openTrouble, lookedAt } = host;
  const ageMs = lookedAt === null ? 0 : now - parseInstant(lookedAt);
  const seen = ageMs < 1_000 ? '' : ` (as of ${formatDuration(Math.floor(ageMs / 1_000) * 1_000)} ago)`;
  const opens = runnable(HINTS.openFirewall({ directory }));
  return [
    ...(opened ? [`accepts the overlay by ${opened} until ${runnable(HINTS.down({ directory }))}${seen}`] : []),
    ...(openTrouble ? [openTrouble] : []),
    ...blocked.map(({ text }) => (openTrouble ? text : `${text}, or while this node is up: ${opens}`)),
    ...translated.map(
      (text) =>
        `translates ${text}: the overlay takes these addresses, so what used them here, such as services of Kubernetes, is cut off. Have an administrator give the network another block. ${renumberText()}. Until then this node stays as it is; a new start of it is refused.`,
    ),
    ...notJudged.map(({ what, why }) => `not judged for ${what.join(', ')}: ${why}`),
  ];
}

/** Returns the outcome of an opening for people. */
export function hostFirewallText(host: HostFirewallStatus, directory: string): string {
  const lines = hostFirewallLines(host, directory);
  return lines.length === 0
    ? 'No chain of the firewall of this host is closed to the overlay: nothing was to be opened.'
    : lines.map((line) => `Firewall of this host: ${line}`).join('\n');
}

export function exitCodeOfHostFirewall({ blocked, openTrouble }: HostFirewallStatus): number {
  return openTrouble !== '' || blocked.length > 0 ? EXIT.negative : EXIT.ok;
}

/** Has the agent that runs in a directory open it. @throws Error where none runs, or its overlay is down */
export async function askToOpen(directory: string): Promise<HostFirewallStatus> {
  return (await askAgent(localSocketPath(directory), { ask: 'open-firewall' })) as HostFirewallStatus;
}

/** The same, for an answer. @returns undefined where none runs */
export async function openOnRunning(directory: string): Promise<Answer | undefined> {
  try {
    const host = await askToOpen(directory);
    return {
      value: { state: 'up', hostFirewall: host },
      text: ['This node is up already.', ...hostFirewallText(visibleTexts(host), directory).split('\n')],
      hints: [`As a service, from each start on: ${HINTS.openFromStart({ directory })}`],
      exitCode: exitCodeOfHostFirewall(host),
    };
  } catch (error) {
    if (error instanceof NoAgent) return undefined;
    throw new CliError((error as Error).message, EXIT.unavailable);
  }
}
