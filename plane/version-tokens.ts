import { createHmac } from 'node:crypto';
import type { BaseServices } from '../core/model/services.ts';

/** The version of the graph that a node has, complete up to a revision. */
export interface VersionToken {
  readonly version: number;
  readonly revision: number;
}

const FORM = /^(\d{1,15})\.(\d{1,15})\.([\w-]{16})$/;

/**
 * Writes and reads the version token of a node's graph. The answer to a heartbeat carries it and the next heartbeat repeats it,
 * so that the next leader need not send the graph again. A token is valid while all that graphs contain beside the network is
 * the same.
 */
export class VersionTokens {
  readonly #setup: string;

  constructor({ keys, settings, nodeAccess }: Pick<BaseServices, 'keys' | 'settings' | 'nodeAccess'>) {
    const { version, relays, stunUrls } = settings;
    this.#setup = createHmac('sha256', keys.controlPrivateKey.reveal())
      .update(JSON.stringify([nodeAccess.graphEpoch, version, relays, stunUrls, keys.relayToken.reveal()]))
      .digest('base64url')
      .slice(0, 16);
  }

  write({ version, revision }: VersionToken): string {
    return `${version}.${revision}.${this.#setup}`;
  }

  /** @returns undefined for one of another setup */
  read(text: string): VersionToken | undefined {
    const [, version, revision, setup] = FORM.exec(text) ?? [];
    return setup === this.#setup ? { version: Number(version), revision: Number(revision) } : undefined;
  }
}
