// A picture as PNG, drawn by cairo on light paper.
#include <cairo.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>

#include "bloomery/core/error.hpp"
#include "cli/output/drawing.hpp"

namespace bloomery::cli {

namespace {

constexpr double scale = 2;

struct cairo_deleter {
  void operator()(cairo_t* c) const noexcept { cairo_destroy(c); }
  void operator()(cairo_surface_t* s) const noexcept { cairo_surface_destroy(s); }
};

void require_success(cairo_status_t status) {
  if (status == CAIRO_STATUS_SUCCESS) return;
  throw error(errc::io, fmt::format("drawing failed: {}", cairo_status_to_string(status)));
}

void use(cairo_t* c, hue h) {
  const unsigned rgb = tint_of(h).light;
  cairo_set_source_rgb(c, (rgb >> 16U) / 255.0, ((rgb >> 8U) & 255U) / 255.0, (rgb & 255U) / 255.0);
}

void write_words(cairo_t* c, const mark& m) {
  cairo_select_font_face(c, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         m.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(c, m.size);
  cairo_text_extents_t size{};
  cairo_text_extents(c, m.text.c_str(), &size);
  const double back = size.x_advance / 2 * static_cast<int>(m.at);
  cairo_move_to(c, m.points.front().x - back, m.points.front().y);
  cairo_show_text(c, m.text.c_str());
}

void draw(cairo_t* c, const mark& m) {
  constexpr std::array<double, 2> dashes = {5, 4};
  use(c, m.colour);
  cairo_new_path(c);
  switch (m.form) {
    case mark::line:
      for (const point& p : m.points) cairo_line_to(c, p.x, p.y);
      cairo_set_line_width(c, m.size);
      cairo_set_dash(c, dashes.data(), m.dashed ? 2 : 0, 0);
      cairo_stroke(c);
      break;
    case mark::area:
      for (const point& p : m.points) cairo_line_to(c, p.x, p.y);
      cairo_fill(c);
      break;
    case mark::dot:
      cairo_arc(c, m.points.front().x, m.points.front().y, m.size, 0, 2 * M_PI);
      cairo_fill(c);
      break;
    case mark::words: write_words(c, m);
  }
}

}  // namespace

std::string png_of(const picture& p) {
  const std::unique_ptr<cairo_surface_t, cairo_deleter> surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::lround(p.width * scale)),
                                 static_cast<int>(std::lround(p.height * scale))));
  const std::unique_ptr<cairo_t, cairo_deleter> c(cairo_create(surface.get()));
  cairo_scale(c.get(), scale, scale);
  cairo_set_line_join(c.get(), CAIRO_LINE_JOIN_ROUND);
  use(c.get(), hue::paper);
  cairo_paint(c.get());
  for (const mark& m : p.marks) draw(c.get(), m);
  require_success(cairo_status(c.get()));
  std::string bytes;
  const auto append = [](void* out, const unsigned char* data, unsigned size) {
    static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(data), size);
    return CAIRO_STATUS_SUCCESS;
  };
  require_success(cairo_surface_write_to_png_stream(surface.get(), append, &bytes));
  return bytes;
}

}  // namespace bloomery::cli
