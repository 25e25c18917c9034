import type { SandboxOptions } from '../../client/agent/launch.ts';
import type { InsideInterface, UserspaceOverlay } from '../../client/agent/userspace-overlay.ts';
import type { NodeConfig } from '../../client/enrol/node-config.ts';
import type { Beginning } from '../../client/sandbox/messages.ts';
import type { Openings } from '../../client/sandbox/openings.ts';
import type { EndSignal } from '../../client/sandbox/sandbox-process.ts';
import type { Log } from '../../core/base/ports.ts';
import type { FullGraph } from '../../core/model/graph.ts';

/** Where the command of a sandbox runs. */
export interface SandboxPlace {
  /** The isolation that it has, in words for people. */
  readonly isolation: string;
  readonly command: readonly string[];
  /** Left out: that of its user. */
  readonly home?: string;
  /** Interface that takes the packets of the overlay; left out: programs use a proxy. */
  readonly inside?: InsideInterface;
  /** Serves what it reaches beside the peers. */
  serve(config: NodeConfig, options: SandboxOptions, log: Log, overlay: UserspaceOverlay): Promise<Openings>;
  /** @returns the exit code of the command, 128 and the number of a signal that ended it */
  run(
    beginning: Pick<Beginning, 'env'> & { readonly graph: FullGraph | undefined },
    ending: AbortSignal,
    signal: () => EndSignal | undefined,
  ): Promise<number>;
  close(): Promise<void>;
}
