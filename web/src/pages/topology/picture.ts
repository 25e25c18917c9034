import type { Curve } from './curves.ts';
import type { Graph, PathKind } from './model.ts';
import type { Place } from './places.ts';

/** What of the picture is where on the screen: a point p of the picture stands at p * scale + (x, y), in CSS pixels. */
export interface View extends Place {
  readonly scale: number;
}

/** A graph with its places, and its lines as paths: made once, drawn each frame. */
export interface Picture {
  readonly graph: Graph;
  readonly places: ReadonlyMap<string, Place>;
  /** By the keys of edges. */
  readonly curves: ReadonlyMap<string, Curve>;
  readonly lines: ReadonlyMap<PathKind, Path2D>;
  readonly heads: ReadonlyMap<PathKind, Path2D>;
}

/** What is picked or pointed at, and so stands out. */
export interface Marked {
  readonly nodes: ReadonlySet<string>;
  readonly edges: ReadonlySet<string>;
}
