import { rmSync } from 'node:fs';
import path from 'node:path';
import type { FullGraph } from '../../core/model/graph.ts';
import { replacePrivateFile } from '../enrol/private-file.ts';
import { parseFullGraph } from '../graph-shape.ts';
import { readRegular } from '../if-readable.ts';

/** The last good graph on disk, so that a node comes up without the control plane. */
export class GraphFile {
  readonly #name: string;
  readonly #self: string;

  /** `self` is the id of the node: a graph of another one is not its own. */
  constructor(directory: string, self: string) {
    this.#name = path.join(directory, 'graph.json');
    this.#self = self;
  }

  /** Undefined when there is none, or it is damaged or of another node. */
  read(): FullGraph | undefined {
    try {
      const graph = parseFullGraph(readRegular(this.#name));
      return graph?.self.id === this.#self ? graph : undefined;
    } catch {
      return undefined;
    }
  }

  /** This node is shut out: it does not come up again from what it knew. */
  forget(): void {
    rmSync(this.#name, { force: true });
  }

  write(graph: FullGraph): void {
    replacePrivateFile(this.#name, JSON.stringify(graph));
  }
}
