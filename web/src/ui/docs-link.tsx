import { Icon } from '../design/icon.tsx';
import { docsOf } from '../pages/names.ts';

interface DocsLinkProps {
  /** All of the documentation unless it is given. */
  readonly page?: string;
  readonly onClick?: () => void;
}

/** Opens beside this page: it may show a token that is shown once. */
export function DocsLink({ page = '', onClick }: DocsLinkProps) {
  return (
    <a class="docs-link" href={docsOf(page)} target="_blank" rel="noopener" onClick={onClick}>
      <Icon name="book-open" /> Documentation
    </a>
  );
}
