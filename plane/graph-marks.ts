import { createHmac } from 'node:crypto';
import type { BaseServices } from '../core/model/services.ts';

/** That a node has a graph, with all that was changed up to a revision. */
export interface GraphMark {
  readonly version: number;
  readonly revision: number;
}

const FORM = /^(\d{1,15})\.(\d{1,15})\.([\w-]{16})$/;

/**
 * What the answer to a heartbeat says of the graph that the node holds, and the next heartbeat repeats, so that whoever leads
 * by then need not send it again. It holds where graphs would tell the same of all that is no part of the network.
 */
export class GraphMarks {
  readonly #setup: string;

  constructor({ keys, settings, nodeAccess }: Pick<BaseServices, 'keys' | 'settings' | 'nodeAccess'>) {
    const { version, relays, stunUrls } = settings;
    this.#setup = createHmac('sha256', keys.controlPrivateKey.reveal())
      .update(JSON.stringify([nodeAccess.graphEpoch, version, relays, stunUrls, keys.relayToken.reveal()]))
      .digest('base64url')
      .slice(0, 16);
  }

  write({ version, revision }: GraphMark): string {
    return `${version}.${revision}.${this.#setup}`;
  }

  /** @returns undefined for one of another setup */
  read(text: string): GraphMark | undefined {
    const [, version, revision, setup] = FORM.exec(text) ?? [];
    return setup === this.#setup ? { version: Number(version), revision: Number(revision) } : undefined;
  }
}
