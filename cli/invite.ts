import type { Command } from 'commander';
import { renderUnicodeCompact } from 'uqr';
import { z } from 'zod';
import { formatJoinLink, type Invitation, parseJoinLink } from '../client/enrol/join-link.ts';
import { isThisMachine } from '../core/base/loopback.ts';
import { addressIn, withoutAddress } from '../core/model/token.ts';
import { type Answer, answering, notice } from './answer.ts';
import { labelsOf } from './operation-options.ts';
import { noticePending, pendingWorkflowOf } from './pending-approval.ts';
import { readToken, type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';
import { callInWorkspace, existingOrFirstWorkspace } from './workspace.ts';

interface InviteOptions extends TargetOptions {
  readonly joinToken?: string;
  readonly publicServer?: string;
  readonly expiry: string;
  readonly uses: string;
  readonly labels?: string;
  readonly deviceLabels?: string;
  readonly ephemeral?: boolean;
  readonly link?: boolean;
}

const madeSchema = z.object({ joinLink: z.string() });

/** `mesh invite`: a QR code that joins devices. It holds a join token, so the link in words is shown only when asked for. */
export function defineInvite(invite: Command): void {
  answering(
    withTarget(invite)
      .option('--join-token <token>', 'show this token, or @file, instead of making one')
      .option(
        '--public-server <url>',
        'address at which devices reach the control plane (its own, or that of the login)',
      )
      .option('--expiry <duration>', 'of a token that is made, such as 24h', '24h')
      .option('--uses <n>', 'devices that it may add', '1')
      .option('--labels <key=value,...>', 'labels of the devices that join with it')
      .option('--device-labels <key=value,key,...>', 'labels that a device may ask for: a key alone grants any value')
      .option('--ephemeral', 'have what joins with it deleted once it has been offline for 10 minutes')
      .option('--link', 'print the join link in words too'),
    async (options: InviteOptions): Promise<Answer> => {
      const invitation = await invitationOf(options);
      if ('waiting' in invitation) {
        noticePending(invitation.waiting);
        return { value: invitation.waiting };
      }
      const link = formatJoinLink(invitation);
      const below = options.link ? link : 'Whoever scans this joins the network. --link prints it in words.';
      return { value: { joinLink: link }, text: [...renderUnicodeCompact(link).split('\n'), below] };
    },
  );
}

async function invitationOf(options: InviteOptions): Promise<Invitation | { waiting: unknown }> {
  const target = targetOf(options);
  if (options.joinToken !== undefined) {
    const token = readToken(options.joinToken) ?? '';
    const told = addressIn(token) ?? target.server;
    return { server: options.publicServer ?? reachable(told, target.server), token: withoutAddress(token) };
  }
  const body = {
    name: 'invitation',
    expiry: options.expiry,
    usageLimit: Number(options.uses),
    ...(options.labels !== undefined && { labels: labelsOf(options.labels, '--labels') }),
    ...(options.deviceLabels !== undefined && { deviceLabels: options.deviceLabels.split(',') }),
    ...(options.ephemeral && { ephemeral: true }),
  };
  const request = { method: 'post', path: '/api/v1/token/generate', body };
  const answer = await callInWorkspace(target, request, { find: existingOrFirstWorkspace });
  if (pendingWorkflowOf(answer) !== undefined) return { waiting: answer };
  const { server, token } = parseJoinLink(madeSchema.parse(answer).joinLink);
  return { server: options.publicServer ?? reachable(server, target.server), token: withoutAddress(token) };
}

/** Returns the address that the control plane gives itself, or that of the login where the former is of its own machine alone. */
export function reachable(told: string, login: string): string {
  const server = isLocal(told) ? login : told;
  if (isLocal(server)) notice(UNREACHABLE);
  return server;
}

function isLocal(server: string): boolean {
  return isThisMachine(URL.parse(server)?.hostname ?? '');
}

const UNREACHABLE =
  'warning: only the machine of the control plane reaches the address in this link. Set app.publicUrls in config.yaml and start meshd again, or give --public-server.';
