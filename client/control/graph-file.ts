import type { FullGraph } from '../../core/model/graph.ts';
import { StateFile } from '../enrol/state-file.ts';
import { parseFullGraph } from '../graph-shape.ts';

/** The last good graph, on disk where there is a directory, so that a node comes up without the control plane. */
export class GraphFile {
  readonly #file: StateFile;
  readonly #self: string;

  /** `self` is the id of the node: a graph of another one is not its own. */
  constructor(directory: string | undefined, self: string) {
    this.#file = new StateFile(directory, 'graph.json');
    this.#self = self;
  }

  /** Undefined when there is none, or it is damaged or of another node. */
  read(): FullGraph | undefined {
    try {
      const graph = parseFullGraph(this.#file.read());
      return graph?.self.id === this.#self ? graph : undefined;
    } catch {
      return undefined;
    }
  }

  /** This node is shut out: it does not come up again from what it knew. */
  forget(): void {
    this.#file.remove();
  }

  write(graph: FullGraph): void {
    this.#file.replace(JSON.stringify(graph));
  }
}
