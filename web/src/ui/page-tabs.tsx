import { useLayoutEffect, useRef } from 'preact/hooks';
import './page-tabs.css';

export interface PageTab {
  readonly name: string;
  readonly title: string;
  readonly href: string;
}

/** Parts of a page, each with an address of its own. */
export function PageTabs({ label, tabs, current }: { label: string; tabs: readonly PageTab[]; current: string }) {
  const nav = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [current]);
  return (
    <nav class="page-tabs" aria-label={label} ref={nav}>
      <ul>
        {tabs.map(({ name, title, href }) => (
          <li key={name}>
            <a href={href} aria-current={name === current ? 'page' : undefined}>
              {title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
