// A dialog opens with the focus on itself: two steps of the keyboard before anybody can type. Its first field takes it.
(() => {
  const begin = () => {
    const dialog = document.querySelector('[role="dialog"]');
    const field = dialog?.querySelector('input[type="text"]');
    if (!field || dialog.dataset.begun) return;
    dialog.dataset.begun = "yes";
    setTimeout(() => field.isConnected && !dialog.querySelector("input:focus") && field.focus(), 50);  // after the dialog's own focus
  };
  window.beginDialogs ??= new MutationObserver(begin).observe(document.body, { childList: true, subtree: true }) ?? true;
})();
