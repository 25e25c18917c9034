import type { ComponentChildren } from 'preact';
import './tile.css';

interface TileProps {
  readonly label: string;
  readonly href: string;
  readonly figure: string;
  /** Beside the figure: what it is of. */
  readonly note?: ComponentChildren;
  /** A picture of how it came about. */
  readonly children?: ComponentChildren;
}

/** A figure that leads to the page that says more. */
export function Tile({ label, href, figure, note, children }: TileProps) {
  return (
    <a class="tile panel" href={href}>
      <span class="dim">{label}</span>
      <span class="figure">{figure}</span>
      {children}
      <span class="dim small">{note}</span>
    </a>
  );
}
