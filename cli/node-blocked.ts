import type { NodeStatus } from '../client/agent/node-status.ts';
import { HINTS } from './node-hints.ts';
import { runnable } from './own-command.ts';

interface RegisteredNode {
  readonly node: Pick<NodeStatus['node'], 'id'>;
  readonly control: Pick<NodeStatus['control'], 'server' | 'standing'>;
}

/** Says why a node has no peers where its overlay is down: it is kept out, or refuses its block. Undefined where it is not down for that. */
export function withoutOverlayText(
  status: RegisteredNode & Pick<NodeStatus, 'routes'>,
  directory?: string,
): string | undefined {
  const { refused } = status.routes;
  if (refused === null) return blockedText(status, directory);
  return runnable(
    `The overlay of this node is down, because its block ${refused.cidr} is not routed: it reaches no peer until then. For the reason: ${HINTS.status({ directory })}`,
  );
}

/**
 * Returns why the control plane blocks a node, and how an administrator changes that; undefined for a node that is admitted or
 * of unknown status.
 */
export function blockedText({ node, control }: RegisteredNode, directory?: string): string | undefined {
  const { server } = control;
  const approve = HINTS.approve({ id: node.id, server });
  switch (control.standing) {
    case 'pending':
      return runnable(`This node waits for approval, and connects by itself then. An administrator runs: ${approve}`);
    case 'revoked':
      return runnable(
        `This node was revoked: its tunnels are down until it is let in again. An administrator runs: ${approve}`,
      );
    case 'removed':
      return runnable(
        `This node is not registered any more. With a new join token in a file: ${HINTS.joinAgain({ directory, server })}`,
      );
    default:
      return undefined;
  }
}
