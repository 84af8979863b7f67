// A figure as PNG, drawn by cairo on light paper.
#include <cairo.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

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

class png final : public canvas {
 public:
  explicit png(extent size)
      : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24,
                                            static_cast<int>(std::lround(size.width * scale)),
                                            static_cast<int>(std::lround(size.height * scale)))),
        cairo_(cairo_create(surface_.get())) {
    cairo_scale(cairo_.get(), scale, scale);
    cairo_set_line_join(cairo_.get(), CAIRO_LINE_JOIN_ROUND);
    use(hue::paper);
    cairo_paint(cairo_.get());
  }

  void line(const std::vector<point>& points, const stroke& s) override {
    constexpr std::array<double, 2> dashes = {5, 4};
    trace(points);
    use(s.colour);
    cairo_set_line_width(cairo_.get(), s.width);
    cairo_set_dash(cairo_.get(), dashes.data(), s.dashed ? 2 : 0, 0);
    cairo_stroke(cairo_.get());
  }
  void area(const std::vector<point>& outline, hue colour) override {
    trace(outline);
    use(colour);
    cairo_fill(cairo_.get());
  }
  void dot(point centre, double radius, hue colour) override {
    cairo_arc(cairo_.get(), centre.x, centre.y, radius, 0, 2 * M_PI);
    use(colour);
    cairo_fill(cairo_.get());
  }
  void text(point base, std::string_view words, const lettering& l) override {
    const std::string copy(words);
    cairo_select_font_face(cairo_.get(), "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           l.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo_.get(), l.size);
    cairo_text_extents_t size{};
    cairo_text_extents(cairo_.get(), copy.c_str(), &size);
    const double back = l.at == anchor::start    ? 0
                        : l.at == anchor::middle ? size.x_advance / 2
                                                 : size.x_advance;
    use(l.colour);
    cairo_move_to(cairo_.get(), base.x - back, base.y);
    cairo_show_text(cairo_.get(), copy.c_str());
  }
  std::string finish() override {
    require_success(cairo_status(cairo_.get()));
    std::string bytes;
    const auto append = [](void* out, const unsigned char* data, unsigned size) {
      static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(data), size);
      return CAIRO_STATUS_SUCCESS;
    };
    require_success(cairo_surface_write_to_png_stream(surface_.get(), append, &bytes));
    return bytes;
  }

 private:
  void use(hue h) {
    const std::string_view hex = tint_of(h).light;
    unsigned rgb = 0;
    std::from_chars(hex.data(), hex.data() + hex.size(), rgb, 16);
    cairo_set_source_rgb(cairo_.get(), (rgb >> 16U) / 255.0, ((rgb >> 8U) & 255U) / 255.0,
                         (rgb & 255U) / 255.0);
  }
  void trace(const std::vector<point>& points) {
    cairo_new_path(cairo_.get());
    for (const point& p : points) cairo_line_to(cairo_.get(), p.x, p.y);
  }

  std::unique_ptr<cairo_surface_t, cairo_deleter> surface_;
  std::unique_ptr<cairo_t, cairo_deleter> cairo_;
};

}  // namespace

std::unique_ptr<canvas> png_canvas(extent size) { return std::make_unique<png>(size); }

}  // namespace bloomery::cli
