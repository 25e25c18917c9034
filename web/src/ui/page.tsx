import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { waitingCount } from '../api/waiting.ts';
import { route } from '../route/route.ts';
import { DocsLink } from './docs-link.tsx';

/**
 * A page: its title gets the focus when it is opened, so that it is read aloud and keys begin there. A page whose script comes
 * late leaves it to who is choosing from a list meanwhile.
 */
export function Page({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    if (!document.activeElement?.matches('[role="combobox"][aria-expanded="true"]')) {
      heading.current?.focus({ preventScroll: true });
    }
  }, []);
  const count = waitingCount.value;
  useLayoutEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ''}${title} · Mesh`;
  }, [title, count]);
  return (
    <div class="stack">
      <div class="row">
        <h1 tabIndex={-1} ref={heading} class="break">
          {title}
        </h1>
        <div class="row push">
          {actions}
          <DocsLink page={route.value.page || 'home'} />
        </div>
      </div>
      {children}
    </div>
  );
}

/** What an empty list says: why it is empty, and the next step. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}
