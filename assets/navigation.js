// Streamlit draws the navigation as a list whose entries are not its children, which screen readers cannot make sense of.
// Without the roles of a list it is what it is: a navigation with links.
(() => {
  const plain = () => {
    for (const part of document.querySelectorAll('[data-testid="stSidebarNavItems"], [data-testid="stSidebarNavItems"] li')) {
      if (part.getAttribute("role") !== "none") part.setAttribute("role", "none");
    }
  };
  plain();
  window.plainNavigation ??= new MutationObserver(plain).observe(document.body, { childList: true, subtree: true }) ?? true;
})();
