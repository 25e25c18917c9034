import type { Command } from 'commander';
import { renderUnicodeCompact } from 'uqr';
import { z } from 'zod';
import { formatJoinLink, type Invitation, parseJoinLink } from '../../client/enrol/join-link.ts';
import { withTarget } from './admin.ts';
import { isWaiting, print } from './print.ts';
import { readToken, type TargetOptions, targetOf } from './session.ts';
import { callInWorkspace, existingOrFirstWorkspace } from './workspace.ts';

interface InviteOptions extends TargetOptions {
  readonly joinToken?: string;
  readonly publicServer?: string;
  readonly expiry: string;
  readonly uses: string;
  readonly link?: boolean;
  readonly json?: boolean;
}

const madeSchema = z.object({ token: z.string(), joinLink: z.string() });

/** `mesh invite`: a QR code that joins devices. It holds a join token, so the link in words is shown only when asked for. */
export function addInviteCommand(program: Command): void {
  withTarget(program.command('invite').description('make a join token and show it as a QR code; it is a secret'))
    .option('--join-token <token>', 'show this token, or @file, instead of making one')
    .option('--public-server <url>', 'address that devices reach the control plane at, instead of its own')
    .option('--expiry <duration>', 'of a token that is made, such as 24h', '24h')
    .option('--uses <n>', 'devices that it may add', '1')
    .option('--link', 'print the join link in words too')
    .action(async (options: InviteOptions) => {
      const invitation = await invitationOf(options);
      if ('waiting' in invitation) return print(invitation.waiting, options.json === true);
      const link = formatJoinLink(invitation);
      if (options.json) console.log(JSON.stringify({ joinLink: link }, null, 2));
      else {
        console.log(renderUnicodeCompact(link));
        console.log(options.link ? link : 'Whoever scans this joins the network. --link prints it in words.');
      }
    });
}

async function invitationOf(options: InviteOptions): Promise<Invitation | { waiting: unknown }> {
  const target = targetOf(options);
  if (options.joinToken !== undefined) {
    return { server: options.publicServer ?? target.server, token: readToken(options.joinToken) ?? '' };
  }
  const body = { name: 'invitation', expiry: options.expiry, usageLimit: Number(options.uses) };
  const request = { method: 'post', path: '/api/v1/token/generate', body };
  const answer = await callInWorkspace(target, request, existingOrFirstWorkspace);
  if (isWaiting(answer)) return { waiting: answer };
  const made = madeSchema.parse(answer);
  return { server: options.publicServer ?? parseJoinLink(made.joinLink).server, token: made.token };
}
