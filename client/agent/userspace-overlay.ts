import { MeshError } from '../../core/base/errors.ts';
import { NO_HOST_RULES } from '../firewall/host/host-rules.ts';
import { userspaceFirewall } from '../firewall/userspace/userspace.ts';
import { userspacePort } from '../ice-port/userspace-port.ts';
import { type OverlayConnection, TCP } from '../netstack/connection.ts';
import type { Netstack, StackNode } from '../netstack/netstack.ts';
import { startConnectivity } from '../paths/runtime.ts';
import type { Place } from '../places.ts';
import { userspaceLink } from '../relay/userspace-link.ts';
import { tunnelPlatform } from '../tunnel/platform.ts';
import { type UserspaceWireGuard, userspaceTunnels } from '../tunnel/userspace/userspace.ts';
import type { OverlayParts } from './overlay.ts';

/** An interface in another network namespace, which has the overlay addresses of the node. */
export interface InsideInterface {
  /** Descriptor of a TUN interface. */
  readonly tun: number;
  setPlaces(places: readonly Place[]): void;
}

/** The parts of a node without an interface of this host. All of them stand on one node of the stack, and know nothing of each other. */
export class UserspaceOverlay {
  readonly parts: OverlayParts;
  #node: StackNode | undefined;
  readonly #served = new Map<string, ServedPort>();

  /**
   * @param watchNetwork left out: a watcher of its own
   * @param inside the interface that its packets come from and go to, in place of the connections of this process
   */
  constructor(stack: Netstack, watchNetwork = tunnelPlatform(process.platform).watchNetwork, inside?: InsideInterface) {
    this.parts = {
      platform: userspaceTunnels({
        open: async ({ cidr, ...options }) => {
          const node = await stack.open({ ...options, ...(inside && { tun: inside.tun }) });
          this.#node = node;
          try {
            inside?.setPlaces([{ address: options.address, cidr }]);
            for (const served of this.#served.values()) await served.listenAt(node);
          } catch (error) {
            await node.close();
            throw error;
          }
          return inside ? addressing(node, inside) : node;
        },
        watchNetwork,
      }),
      routesNothing: true,
      openFirewall: async () => userspaceFirewall(this.#opened()),
      hostRules: () => NO_HOST_RULES,
      startConnectivity: (options) => {
        const node = this.#opened();
        return startConnectivity(options, {
          openPort: userspacePort({
            sendStun: (to, bytes) => node.sendDatagrams(bytes, 0, to),
            receiveStun: (handler) => {
              node.onStun = (bytes, _segment, from) => handler(bytes, from);
            },
          }),
          openLink: userspaceLink({
            sendRelayed: (bytes, segment, from) => node.sendDatagrams(bytes, segment, from),
            receiveRelayed: (handler) => {
              node.onRelayed = handler;
            },
          }),
        });
      },
      removeLeft: async () => {},
    };
  }

  /** The node of the stack that was opened last; it may be closed by now. */
  get node(): StackNode | undefined {
    return this.#node;
  }

  /**
   * Takes connections of peers to a port until the answer is called, also after the stack was lost and came up anew.
   *
   * @throws MeshError `conflict` where the port is served already, `unavailable` while the overlay is down
   */
  async listen(
    port: number,
    onConnection: (connection: OverlayConnection) => void,
    protocol = TCP,
  ): Promise<() => void> {
    if (!this.#node) throw new MeshError('unavailable', 'The overlay of this node is down: see its status.');
    const key = `${port} ${protocol === TCP ? 'TCP' : 'UDP'}`;
    if (this.#served.has(key)) throw new MeshError('conflict', `Port ${port} of this node is served already.`);
    const served = new ServedPort((node) => node.listen(port, onConnection, protocol));
    this.#served.set(key, served);
    try {
      await served.listenAt(this.#node);
    } catch (error) {
      this.#served.delete(key);
      throw error;
    }
    return () => {
      if (this.#served.get(key) === served) this.#served.delete(key);
      served.stop();
    };
  }

  #opened(): StackNode {
    if (!this.#node) throw new Error('The tunnel comes first.');
    return this.#node;
  }
}

/** Moves the addresses of the interface with those of the node. */
function addressing(node: StackNode, inside: InsideInterface): UserspaceWireGuard {
  return {
    port: node.port,
    configure: (request) => node.configure(request),
    async setPlaces(places) {
      await node.setPlaces(places);
      inside.setPlaces(places);
    },
    ended: node.ended,
    close: () => node.close(),
  };
}

/** A port that peers reach, at one node of the stack after the other. */
class ServedPort {
  readonly #listen: (node: StackNode) => Promise<() => void>;
  #isStopped = false;
  #unlisten = () => {};

  constructor(listen: (node: StackNode) => Promise<() => void>) {
    this.#listen = listen;
  }

  async listenAt(node: StackNode): Promise<void> {
    const unlisten = await this.#listen(node);
    if (this.#isStopped) unlisten();
    else this.#unlisten = unlisten;
  }

  stop(): void {
    this.#isStopped = true;
    this.#unlisten();
  }
}
