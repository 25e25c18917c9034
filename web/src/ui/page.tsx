import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { texts } from '../texts/texts.ts';

/** A page: its title gets the focus when it is opened, so that it is read aloud and keys begin there. */
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
    heading.current?.focus({ preventScroll: true });
  }, []);
  useLayoutEffect(() => {
    document.title = `${title} · ${texts.common.product}`;
  }, [title]);
  return (
    <div class="stack">
      <div class="row">
        <h1 tabIndex={-1} ref={heading} class="break">
          {title}
        </h1>
        {actions && <div class="row push">{actions}</div>}
      </div>
      {children}
    </div>
  );
}

/** What an empty list says: why it is empty, and the next step. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}
