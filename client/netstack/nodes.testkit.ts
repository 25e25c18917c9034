import { silentLog } from '../../core/base/silent-log.ts';
import type { FirewallRules } from '../../core/model/graph.ts';
import { generateKeyPair } from '../../net/seal/x25519.ts';
import { userspaceFirewall } from '../firewall/userspace/userspace.ts';
import { TUNNEL_MTU } from '../tunnel/mtu.ts';
import type { Tunnel } from '../tunnel/tunnel.ts';
import { userspaceTunnels } from '../tunnel/userspace/userspace.ts';
import { Netstack, type StackNode } from './netstack.ts';

/** Nodes of one stack, each of which has all others as its peers. */

export interface TestNode {
  readonly address: string;
  readonly publicKey: string;
  readonly stack: StackNode;
  readonly tunnel: Tunnel;
  apply(rules: FirewallRules): Promise<void>;
}

export interface TestNodes {
  readonly nodes: readonly TestNode[];
  [Symbol.asyncDispose](): Promise<void>;
}

const CIDR = '10.96.0.0/24';

/** Every connection, to and from every peer. */
export const OPEN: FirewallRules = {
  in: [{ cidr: CIDR, protocol: 'ALL' }],
  out: [{ cidr: CIDR, protocol: 'ALL' }],
};

/** @param choice of the stack: see `stackProgram` */
export async function testNodes(count: number, now = Date.now(), choice = 'wasm'): Promise<TestNodes> {
  const stack = new Netstack(choice);
  const opened: { node: TestNode; port: number }[] = [];
  for (let index = 1; index <= count; index += 1) {
    const { privateKey, publicKey } = generateKeyPair();
    const address = `10.96.0.${index}`;
    let own: StackNode | undefined;
    const platform = userspaceTunnels({
      open: async (options) => {
        own = await stack.open(options);
        return own;
      },
      watchNetwork: () => ({ stop: () => {} }),
    });
    const common = { interfaceName: 'mesh0', cidr: CIDR, mtu: TUNNEL_MTU, log: silentLog };
    const tunnel = await platform.open({ ...common, privateKey, listenPort: 0, address });
    if (!own) throw new Error('The tunnel opened no node.');
    const firewall = userspaceFirewall(own);
    opened.push({
      port: own.port,
      node: {
        address,
        publicKey: Buffer.from(publicKey).toString('base64'),
        stack: own,
        tunnel,
        apply: (rules) => firewall.apply({ address, cidr: CIDR }, rules, now),
      },
    });
  }
  for (const { node } of opened) {
    const others = opened.filter((other) => other.node !== node);
    await node.tunnel.change(
      others.map(({ node: { publicKey, address }, port }) => ({
        publicKey,
        allowedIps: [`${address}/32`],
        endpoint: { address: '127.0.0.1', port },
        keepalive: 0,
      })),
      [],
    );
  }
  return {
    nodes: opened.map(({ node }) => node),
    async [Symbol.asyncDispose]() {
      for (const { node } of opened) await node.tunnel.close();
    },
  };
}
